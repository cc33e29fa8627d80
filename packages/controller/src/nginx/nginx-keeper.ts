import type { ClusterFile } from '@pagefleet/contract';
import { type ClusterPaths, type Logger, renderGeneration } from '@pagefleet/runtime';
import { askGeneration } from './ask-generation.ts';
import {
  applyGeneration,
  currentGeneration,
  type GenerationOptions,
  type SwapOutcome,
} from './generations.ts';
import { runNginx } from './run-nginx.ts';

interface KeeperOptions {
  readonly cluster: ClusterFile;
  readonly paths: ClusterPaths;
  readonly logger: Logger;
  /** worker ports nginx shall know; null = keep what is in force */
  readonly wantedPorts: () => readonly number[] | null;
  readonly onOutcome: (outcome: SwapOutcome) => void;
}

const CHECK_MS = 5_000;
/** A refused generation is offered again only after this: a reload that fails may have cost connections. */
const RETRY_REFUSED_MS = 60_000;

/** Keeps nginx's picture of the workers up to date, one change at a time and never on a pass's time. */
export class NginxKeeper {
  readonly #options: KeeperOptions;
  readonly #generations: GenerationOptions;
  readonly #timer: NodeJS.Timeout;
  #running = false;
  #again = false;
  #refusedPorts = '';
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: KeeperOptions) {
    const { cluster, paths } = options;
    this.#options = options;
    this.#generations = {
      folder: paths.nginxDir,
      render: (ports, generation) => renderGeneration(cluster, ports, generation),
      run: (args) => runNginx('nginx', args),
      ask: () => askGeneration(paths.nginxControlSocket, 2_000),
      confirmTimeoutMs: 10_000,
    };
    this.#timer = setInterval(() => this.check(), CHECK_MS);
  }

  check(): void {
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#again = false;
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#turn();
      }
    } catch (err) {
      this.#options.logger.error({ err }, 'nginx_generation_failed');
    } finally {
      this.#running = false;
    }
  }

  async #turn(): Promise<void> {
    const ports = this.#options.wantedPorts();
    if (ports === null) return;
    const wasRefused = this.#refusedPorts === ports.join();
    if (wasRefused && performance.now() - this.#refusedAtMs < RETRY_REFUSED_MS) return;
    const outcome = await applyGeneration(ports, this.#generations);
    this.#refusedPorts = outcome.kind === 'refused' ? ports.join() : '';
    this.#refusedAtMs = performance.now();
    if (outcome.kind === 'unchanged') await this.#reloadIfBehind();
    else this.#options.onOutcome(outcome);
  }

  /** nginx that was starting while the link was swapped may have read the old one. */
  async #reloadIfBehind(): Promise<void> {
    const { folder, ask, run } = this.#generations;
    const answered = await ask();
    if (answered === null || answered === (await currentGeneration(folder))) return;
    await run(['-e', 'stderr', '-s', 'reload', '-c', this.#options.paths.nginxConfFile]);
    this.#options.logger.warn({ answered }, 'nginx_reloaded_because_behind');
  }
}
