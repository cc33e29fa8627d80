import type { MemberKind, SessionMember } from './session.ts';

/** A signal can be lost: a child between fork and exec swallows it. So it is sent again. */
const ASK_AGAIN_MS = 2_000;
/** how long a kind that holds no pages may take once it was asked */
export const KIND_PATIENCE_MS = 20_000;

/** The door first, then the pages, then what the pages need. */
const ORDER: readonly MemberKind[] = ['other', 'nginx', 'worker', 'controller', 'nats'];

/** when a process was asked first and last, by pid */
export type Asked = Map<number, { readonly firstMs: number; readonly lastMs: number }>;

interface Step {
  readonly ask: readonly SessionMember[];
  readonly kill: readonly SessionMember[];
}

/**
 * Whom to ask now, and who had time enough. A process whose parent is one of ours is its parent's business. The programs
 * of a living supervisord are left to it for the first round.
 */
export function decideAsks(members: readonly SessionMember[], asked: Asked, nowMs: number): Step {
  const leader = members.find(({ kind }) => kind === 'supervisord');
  const heads = members.filter((member) => isHead(member, members, leader));
  const leaderAsked = leader && asked.get(leader.identity.pid);
  const leaderHadItsRound = !leader || (leaderAsked && nowMs - leaderAsked.firstMs >= ASK_AGAIN_MS);
  const due = leaderHadItsRound ? kindsDue(heads, asked, nowMs) : [];
  const isDue = ({ kind, identity }: SessionMember): boolean => {
    const last = asked.get(identity.pid)?.lastMs ?? Number.NEGATIVE_INFINITY;
    return (kind === 'supervisord' || due.includes(kind)) && nowMs - last >= ASK_AGAIN_MS;
  };
  const hasPages = members.some(({ kind }) => kind === 'worker');
  const late = heads.filter(
    (head) => isOverdue(head, asked, nowMs) && mayBeKilled(head.kind, hasPages, members.length),
  );
  const kill = members.filter((member) => late.some(({ kind }) => kind === member.kind));
  return { ask: heads.filter((head) => isDue(head) && !kill.includes(head)), kill };
}

function isHead(
  member: SessionMember,
  members: readonly SessionMember[],
  leader: SessionMember | undefined,
): boolean {
  if (member === leader || member.parentPid === leader?.identity.pid) return true;
  return !members.some(({ identity }) => identity.pid === member.parentPid);
}

/** Up to the first kind that is still there; the door is not waited for longer than its patience. */
function kindsDue(heads: readonly SessionMember[], asked: Asked, nowMs: number): MemberKind[] {
  const due: MemberKind[] = [];
  for (const kind of ORDER) {
    const present = heads.filter((head) => head.kind === kind);
    if (present.length === 0) continue;
    due.push(kind);
    const isPassable = kind === 'nginx' && present.every((head) => isOverdue(head, asked, nowMs));
    if (!isPassable && kind !== 'other') break;
  }
  return due;
}

function isOverdue({ identity }: SessionMember, asked: Asked, nowMs: number): boolean {
  const first = asked.get(identity.pid)?.firstMs;
  return first !== undefined && nowMs - first >= KIND_PATIENCE_MS;
}

/** Pages are in the workers and in the controller's child; a door is held open by them. supervisord goes when it is alone. */
function mayBeKilled(kind: MemberKind, hasPages: boolean, memberCount: number): boolean {
  if (kind === 'nats') return true;
  if (kind === 'nginx' || kind === 'controller') return !hasPages;
  // Elsewhere than on Linux only the leader is seen, so it is never known to be alone.
  return kind === 'supervisord' && memberCount === 1 && process.platform === 'linux';
}
