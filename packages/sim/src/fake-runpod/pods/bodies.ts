import { isSameProcess, type Logger } from '@pagefleet/runtime';
import type { FakeClock } from '../clock.ts';
import { observePod } from '../table/observe-pod.ts';
import { type PodRecord, runsAsProcess } from '../table/pod-record.ts';
import { type LightPod, type LightPodHandler, openLightPod } from './light-pod.ts';
import {
  askProcessPodToEnd,
  findProcessPod,
  killProcessPod,
  type ProcessPodContext,
  startProcessPod,
} from './process-pod.ts';

/** A gateway or companion finishes its pages within 10 s of being asked to end. */
const KILL_AFTER_REAL_MS = 12_000;

export interface BodiesOptions {
  readonly pods: () => Iterable<PodRecord>;
  readonly clock: FakeClock;
  readonly logger: Logger;
  readonly processes: ProcessPodContext;
  readonly answer: LightPodHandler;
  /** the record was changed here */
  readonly changed: (pod: PodRecord) => void;
  /** a port of the pod was taken by somebody else: others must be found for it */
  readonly movePorts: (pod: PodRecord) => Promise<void>;
}

/**
 * What listens in the pods. Nothing is told to it: it looks at the table, and brings each body to what the table says,
 * one step at a time for each pod.
 */
export class Bodies {
  private readonly lights = new Map<string, LightPod>();
  private readonly work = new Map<string, Promise<void>>();
  private readonly askedAtMs = new Map<string, number>();
  private closed = false;
  private readonly options: BodiesOptions;

  constructor(options: BodiesOptions) {
    this.options = options;
  }

  /** `poll`: also looks whether processes still run. */
  reconcile({ poll = false } = {}): void {
    if (this.closed) return;
    const nowMs = this.options.clock.nowMs();
    for (const pod of this.options.pods()) {
      if (!pod.knobs.listen || this.work.has(pod.id) || !this.needsWork(pod, nowMs, poll)) continue;
      const done = this.step(pod)
        .catch((err: unknown) => this.options.logger.error({ err, pod: pod.id }, 'pod_body_failed'))
        .finally(() => this.work.delete(pod.id));
      this.work.set(pod.id, done);
    }
  }

  /** Resolves when every pod's body is what the table says. */
  async settled(): Promise<void> {
    for (this.reconcile(); this.work.size > 0; this.reconcile()) await Promise.all(this.work.values());
  }

  /** Whether some process must be looked at again soon, as it may end by itself. */
  hasProcesses(): boolean {
    for (const pod of this.options.pods()) if (pod.process !== null) return true;
    return false;
  }

  /** Finds the processes that an earlier life of the fake started. */
  async adopt(): Promise<void> {
    for (const pod of this.options.pods()) {
      if (!runsAsProcess(pod.request)) continue;
      const before = pod.process;
      pod.process = await findProcessPod(this.options.processes.podsDir, pod);
      // The fake may have died between starting it and writing that down.
      if (before === null && pod.process !== null) pod.processRunMs = pod.startedAtMs;
      if (before !== null && pod.process === null && pod.state === 'running') this.markExited(pod);
      this.options.changed(pod);
    }
  }

  /** Light pods live in this process and end with it; pods that are processes only if it is asked for. */
  async close({ endProcesses }: { endProcesses: boolean }): Promise<void> {
    this.closed = true;
    await Promise.all(this.work.values());
    for (const light of this.lights.values()) light.close();
    this.lights.clear();
    if (!endProcesses) return;
    await Promise.all(
      [...this.options.pods()].map((pod) => (pod.process === null ? null : killProcessPod(pod.process))),
    );
  }

  private isWanted(pod: PodRecord, nowMs: number): boolean {
    return observePod(pod, nowMs).listening;
  }

  private needsWork(pod: PodRecord, nowMs: number, poll: boolean): boolean {
    const wanted = this.isWanted(pod, nowMs);
    if (!runsAsProcess(pod.request)) return wanted !== this.lights.has(pod.id);
    if (pod.process === null) return wanted && pod.state === 'running';
    return poll || !(this.isRightProcess(pod, nowMs) || this.askedAtMs.has(pod.id));
  }

  /** A pod that was started again needs a process of its own for it. */
  private isRightProcess(pod: PodRecord, nowMs: number): boolean {
    return pod.state === 'running' && this.isWanted(pod, nowMs) && pod.processRunMs === pod.startedAtMs;
  }

  private async step(pod: PodRecord): Promise<void> {
    if (runsAsProcess(pod.request)) return this.stepProcess(pod);
    const light = this.lights.get(pod.id);
    if (light) {
      light.close();
      this.lights.delete(pod.id);
      return;
    }
    try {
      this.lights.set(pod.id, await openLightPod(pod, this.options.answer));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      await this.options.movePorts(pod);
    }
  }

  private async stepProcess(pod: PodRecord): Promise<void> {
    const { processes, changed } = this.options;
    const { process } = pod;
    if (process === null) {
      const runMs = pod.startedAtMs;
      pod.process = await startProcessPod(processes, pod);
      pod.processRunMs = runMs;
      return changed(pod);
    }
    const right = this.isRightProcess(pod, this.options.clock.nowMs());
    if (!(await isSameProcess(process))) {
      pod.process = null;
      this.askedAtMs.delete(pod.id);
      if (right) this.markExited(pod);
      return changed(pod);
    }
    if (!right) await this.endProcess(pod);
  }

  private async endProcess(pod: PodRecord): Promise<void> {
    const askedAtMs = this.askedAtMs.get(pod.id);
    if (askedAtMs === undefined) {
      this.askedAtMs.set(pod.id, Date.now());
      return askProcessPodToEnd(this.options.processes.podsDir, pod);
    }
    const graceIsOver = pod.graceUntilMs !== null && this.options.clock.nowMs() >= pod.graceUntilMs;
    if (pod.process && (graceIsOver || Date.now() - askedAtMs >= KILL_AFTER_REAL_MS)) {
      await killProcessPod(pod.process);
    }
  }

  private markExited(pod: PodRecord): void {
    pod.containerExitedAtMs = this.options.clock.nowMs();
    this.options.logger.info({ pod: pod.id }, 'pod_container_exited');
  }
}
