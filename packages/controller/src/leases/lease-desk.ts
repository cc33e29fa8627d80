import { randomBytes } from 'node:crypto';
import { type LeaseStatus, PagefleetError, type ScaleReply, type ScaleRequest } from '@pagefleet/contract';
import {
  type ClientLease,
  caps,
  decideLease,
  findLease,
  type LeaseDecision,
  type LeasePool,
  type LeaseRequest,
  liveLease,
  type World,
} from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import type { Fleet } from '../fleet.ts';
import type { Caller } from '../http/authorise.ts';
import { showLease } from './show-lease.ts';

interface DeskDeps {
  readonly fleet: Pick<Fleet, 'money' | 'changeMoney'>;
  readonly world: () => World;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** a lease changes what the pool wants */
  readonly requestPass: () => void;
}

export interface LeaseDesk {
  scale(caller: Caller, body: ScaleRequest): Promise<ScaleReply>;
  /** Throws `not_found` for one that is unknown, over, or somebody else's. */
  release(caller: Caller, lease: string): Promise<ScaleReply>;
  list(caller: Caller): LeaseStatus[];
}

/** Where clients take, renew and release leases. An answer means that it is on disk. */
export function createLeaseDesk(deps: DeskDeps): LeaseDesk {
  const { fleet, logger, nowMs } = deps;

  async function change(
    caller: Caller,
    ask: Omit<LeaseRequest, 'owner' | 'isOperator'>,
  ): Promise<ScaleReply> {
    const request = { ...ask, owner: caller.name, isOperator: caller.role === 'operator' };
    const pools = leasePools(deps.world());
    const newId = `lease-${randomBytes(8).toString('hex')}`;
    const { stored, result } = await fleet.changeMoney('lease', (state, atMs) => {
      const decision = decideLease(request, { book: state.leases, pools, nowMs: atMs, newId });
      return { state: { ...state, leases: bookAfter(state.leases, decision) }, result: decision };
    });
    if (!stored)
      throw new PagefleetError('local_shortage', 'the lease cannot be put on disk; nothing has changed');
    const reply = replyOf(caller, result);
    const { lease, pool, pods, max_pods, expires_in_s, released } = reply;
    logger.info({ owner: caller.name, lease, pool, pods, max_pods, expires_in_s, released }, 'lease_changed');
    deps.requestPass();
    return reply;
  }

  function replyOf(caller: Caller, decision: LeaseDecision): ScaleReply {
    if (decision.kind === 'unknown') throw unknownLease(decision.lease);
    if (decision.kind === 'too-many') throw new PagefleetError('conflict', decision.why);
    if (decision.kind === 'refused')
      throw new PagefleetError('bad_request', `${decision.param}: ${decision.why}`, {
        details: { param: decision.param },
      });
    const isReleased = decision.kind === 'released';
    const pool = decision.kind === 'released' ? decision.pool : decision.lease.pool;
    const cap = caps(deps.world()).pools.get(pool);
    const blank = { lease: '', owner: caller.name, name: '', pool, pods: 0, max_pods: null, gpu_types: null };
    const none = {
      ...blank,
      require: null,
      expires_in_s: 0,
      pods_expire_in_s: null,
      max_pods_expire_in_s: null,
    };
    const shown = isReleased ? none : showLease(decision.lease, nowMs());
    const notes = [...decision.notes];
    if (cap !== undefined && cap.floor < shown.pods)
      notes.push(`for now ${cap.floor} of ${shown.pods} pods are kept ready: ${cap.why}`);
    return {
      ...shown,
      lease: decision.lease?.id ?? null,
      released: isReleased,
      effective_pods: cap?.floor ?? 0,
      effective_max_pods: cap?.effective ?? 0,
      binding: cap?.binds ?? 'max_pods',
      notes,
    };
  }

  return {
    scale: (caller, body) => change(caller, requestOf(body)),
    async release(caller, lease) {
      const who = { owner: caller.name, isOperator: caller.role === 'operator', lease };
      const held = findLease(fleet.money.state.leases, who, nowMs());
      if (held === null) throw unknownLease(lease);
      return change(caller, { lease, pods: 0 });
    },
    list: (caller) =>
      fleet.money.state.leases
        .flatMap((lease) => liveLease(lease, nowMs()) ?? [])
        .filter(({ owner }) => caller.role === 'operator' || owner === caller.name)
        .map((lease) => showLease(lease, nowMs())),
  };
}

function bookAfter(book: readonly ClientLease[], decision: LeaseDecision): readonly ClientLease[] {
  if (decision.kind === 'granted')
    return [...book.filter(({ id }) => id !== decision.lease.id), decision.lease];
  if (decision.kind !== 'released' || decision.lease === null) return book;
  return book.filter(({ id }) => id !== decision.lease?.id);
}

function requestOf(body: ScaleRequest): Omit<LeaseRequest, 'owner' | 'isOperator'> {
  const { lease, pool, name, pods, max_pods: cap, gpu_types: cards, require, ttl_s: ttl } = body;
  return {
    ...(lease === undefined ? {} : { lease }),
    ...(pool === undefined ? {} : { pool }),
    ...(name === undefined ? {} : { name }),
    ...(pods === undefined ? {} : { pods }),
    ...(cap === undefined ? {} : { cap }),
    ...(cards === undefined ? {} : { cards }),
    ...(require === undefined ? {} : { requireFleet: require === 'fleet' }),
    ...(ttl === undefined ? {} : { ttlMs: Math.round(ttl * 1_000) }),
  };
}

function leasePools(world: World): LeasePool[] {
  const { pools } = caps(world);
  return world.pools.map(({ name, policy }) => {
    const listed = policy?.cards.map(({ card }) => card) ?? [];
    const offered = [...new Set(world.offers?.offers.map(({ card }) => card) ?? [])];
    const cards = listed.length > 0 ? listed : offered.length > 0 ? offered : null;
    return { name, cap: pools.get(name)?.operatorCap ?? 0, cards, hasCards: policy !== null };
  });
}

function unknownLease(lease: string): PagefleetError {
  return new PagefleetError('not_found', `there is no lease "${lease}" of this key; it may be over`, {
    details: { param: 'lease' },
  });
}
