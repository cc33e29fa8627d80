import type { BudgetStatus, FleetStatus } from '@pagefleet/contract';
import { oneLine } from '../terminal/one-line.ts';
import { formatTable } from '../terminal/table.ts';

const MAX_TROUBLE_CHARS = 600;

/** The snapshot as a person reads it: money and pages first, then pools, pods and workers, then what is wrong. */
export function formatStatus(status: FleetStatus): string {
  const { summary } = status;
  const head = [
    `cluster ${status.cluster}   ${status.at}`,
    `pods   ${summary.pods_ready} ready, ${summary.pods_booting} booting, ${summary.pods_quarantined} set aside, ${summary.pods_draining} draining`,
    ...moneyLines(status),
    `pages  ${summary.pages_in_flight} in flight, ${summary.pages_waiting} waiting, ${summary.pages_per_second.toFixed(2)} finished a second (last minute)`,
  ].join('\n');
  return [
    head,
    poolTable(status),
    leaseTable(status),
    podTable(status),
    workerTable(status),
    troubles(status),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function moneyLines({ summary, money }: FleetStatus): string[] {
  const parts = [
    `${usd(summary.live_hourly_serving_usd)} serving`,
    `${usd(summary.live_hourly_booting_usd)} booting`,
    `${usd(summary.live_hourly_quarantined_usd)} set aside`,
  ].join(', ');
  const { spend_today_usd: today, spend_month_usd: month } = summary;
  const open = money.open_today_usd >= 0.005 ? ` and up to ${usd(money.open_today_usd)} not counted yet` : '';
  const lines = [
    `money  ${usd(summary.live_hourly_usd)}/h now (${parts})`,
    `spent  ${usd(today)} today${open}, ${usd(month)} this month (boots: ${usd(money.booting_today_usd)} today)`,
  ];
  const { per_hour: hour, per_day: day } = money;
  const limits = [limitOf(hour, '/h'), limitOf(day, ' today')].filter((part) => part !== '');
  if (limits.length > 0) lines.push(`limits ${limits.join(', ')}`);
  return lines;
}

function limitOf(budget: BudgetStatus | null, unit: string): string {
  if (budget === null) return '';
  const hard = budget.hard_usd > budget.soft_usd ? `, drains at ${usd(budget.hard_usd)}` : '';
  return `${usd(budget.left_usd)}${unit} left of ${usd(budget.soft_usd)}${hard}`;
}

function poolTable({ pools }: FleetStatus): string {
  return formatTable(
    ['POOL', 'ENGINE', 'FLOOR', 'CAP', 'BOUND BY', 'IN FLIGHT', 'WAITING', 'PAGES/S', '$ TODAY'],
    pools.map((pool) => [
      pool.name,
      `${pool.provider}/${pool.engine}`,
      String(pool.min_pods),
      `${pool.effective_max_pods} of ${pool.max_pods}`,
      pool.binding,
      String(pool.in_flight),
      String(pool.waiting + pool.unsplit),
      pool.pages_per_second.toFixed(2),
      pool.spend_today_usd.toFixed(2),
    ]),
  );
}

function leaseTable({ leases }: FleetStatus): string {
  if (leases.length === 0) return '';
  return formatTable(
    ['LEASE', 'OF', 'POOL', 'PODS', 'MAX PODS', 'CARDS', 'EXPIRES'],
    leases.map((lease) => [
      lease.lease,
      lease.owner,
      lease.pool,
      String(lease.pods),
      lease.max_pods === null ? '' : String(lease.max_pods),
      lease.gpu_types?.join(', ') ?? '',
      ageOf(lease.expires_in_s),
    ]),
  );
}

function podTable({ pods }: FleetStatus): string {
  return formatTable(
    ['POD', 'POOL', 'STATE', 'IN FLIGHT', 'USED', 'AGE', '$/H', 'WHY'],
    pods.map((pod) => [
      pod.id,
      pod.pool,
      pod.quarantine_remaining_s === null
        ? pod.state
        : `${pod.state} ${Math.round(pod.quarantine_remaining_s)}s`,
      `${pod.inflight}/${pod.capacity}`,
      String(pod.used),
      ageOf(pod.age_s),
      pod.price_usd_per_hour === null ? '?' : pod.price_usd_per_hour.toFixed(2),
      pod.reason ?? '',
    ]),
  );
}

function workerTable({ workers }: FleetStatus): string {
  return formatTable(
    ['WORKER', 'PID', 'STATE', 'PODS', 'WIDTH', 'IN FLIGHT', 'WAITING', 'REPORT'],
    workers.map((worker) => [
      worker.worker < 0 ? 'backup' : String(worker.worker),
      String(worker.pid),
      worker.state,
      String(worker.pods),
      String(worker.width),
      String(worker.in_flight),
      String(worker.waiting),
      worker.report_age_ms === null ? 'none' : `${worker.report_age_ms} ms ago`,
    ]),
  );
}

function troubles({ degraded, alarms }: FleetStatus): string {
  return [
    ...degraded.map(({ source, ageMs, reason }) => {
      const age = ageMs === null ? 'never seen' : `${ageOf(ageMs / 1_000)} old`;
      return `degraded: ${source} (${age}): ${reason}`;
    }),
    ...alarms.map(({ code, message }) => `ALARM ${code}: ${message}`),
  ]
    .map((line) => oneLine(line, MAX_TROUBLE_CHARS))
    .join('\n');
}

function usd(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

/** `47s`, `3m 20s`, `5h 12m`, `2d 4h`: the two largest units. */
function ageOf(seconds: number): string {
  const whole = Math.round(seconds);
  const units = [
    ['d', Math.floor(whole / 86_400)],
    ['h', Math.floor(whole / 3_600) % 24],
    ['m', Math.floor(whole / 60) % 60],
    ['s', whole % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  if (first < 0) return '0s';
  return units
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count}${unit}`)
    .join(' ');
}
