import { randomUUID } from 'node:crypto';
import type { ClusterFile } from '@pagefleet/contract';
import { clusterPaths, connectBus, createLogger, startWatchdog } from '@pagefleet/runtime';
import { adoptOrphans } from './adopt-orphans.ts';
import { cleanSpool } from './clean-spool.ts';
import { forkMember } from './fork-member.ts';
import { publishRoster } from './publish-roster.ts';
import { createRosterBook } from './roster.ts';
import { WorkerGroup } from './worker-group.ts';
import { markExited } from './worker-record.ts';

/** The cluster primary: forks the workers, replaces them one by one, and says who exists and who is gone. */
export async function runPrimary(cluster: ClusterFile): Promise<void> {
  const { config } = cluster;
  const { workersDir, spoolDir } = clusterPaths(cluster.stateDir);
  const logger = createLogger({ component: 'primary', level: config.logLevel });
  startWatchdog({
    name: 'primary',
    stallMs: config.watchdog.stallMs,
    fatalMs: config.watchdog.fatalMs,
    logger,
  });
  const roster = createRosterBook({ group: 'workers', primaryId: randomUUID(), nowMs: Date.now });
  const bus = await connectBus({
    url: cluster.natsUrl,
    credentialsFile: cluster.natsCredentialsFile,
    name: 'worker-primary',
    logger,
  });
  const publisher = publishRoster({ roster, bus, workersDir });
  const orphans = await adoptOrphans({ workersDir, roster, logger, onChange: publisher.now });
  await cleanSpool(spoolDir, workersDir);

  const group = new WorkerGroup({
    ports: cluster.ports.workers,
    roster,
    logger,
    fork: forkMember,
    onChange: publisher.now,
    onPortTaken: orphans.portTaken,
    onExit(bootId) {
      void markExited(workersDir, bootId, Date.now());
      void cleanSpool(spoolDir, workersDir);
    },
  });
  group.start();

  process.on('SIGHUP', () => void group.replaceAll());
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'primary_stopping');
    await group.stop(config.limits.pageDeadlineMs);
    publisher.stop();
    await bus.close();
    logger.flush(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
