import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeats, type SeatHolder, type Seats } from './seats.ts';

const live = new AbortController().signal;

interface TestHolder extends SeatHolder {
  sits: boolean;
  idle: boolean;
  evictions: number;
}

function holderOn(seats: Seats): TestHolder {
  const holder: TestHolder = {
    sits: false,
    idle: false,
    evictions: 0,
    isIdle: () => holder.idle,
    evict() {
      holder.sits = false;
      holder.evictions += 1;
      seats.give(holder);
    },
  };
  return holder;
}

describe('seats for documents', () => {
  test('a_document_whose_pages_are_not_wanted_yet_makes_room_for_one_that_waits', async () => {
    const seats = createSeats(1);
    const long = holderOn(seats);
    await seats.take(long, live);
    const short = holderOn(seats);
    const seated = seats.take(short, live);
    expect(long.evictions).toBe(0);
    long.idle = true;
    seats.becameIdle();
    await seated;
    expect(long.evictions).toBe(1);
  });

  test('one_that_stops_waiting_is_passed_over', async () => {
    const seats = createSeats(1);
    const first = holderOn(seats);
    await seats.take(first, live);
    const gone = new AbortController();
    const waiting = seats.take(holderOn(seats), gone.signal);
    const third = seats.take(holderOn(seats), live);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    seats.give(first);
    await third;
  });

  test('never_more_sit_than_there_are_seats_and_everybody_gets_one_in_the_end', async () => {
    const act = fc.record({ who: fc.nat(5), what: fc.constantFrom('take', 'give', 'idle', 'busy') });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(act, { maxLength: 60 }),
        async (count, acts) => {
          const seats = createSeats(count);
          const holders = Array.from({ length: 6 }, () => holderOn(seats));
          const waits = new Set<TestHolder>();
          const take = (holder: TestHolder): void => {
            if (holder.sits || waits.has(holder)) return;
            waits.add(holder);
            void seats.take(holder, live).then(() => {
              waits.delete(holder);
              holder.sits = true;
            });
          };
          const settle = () => new Promise((resolve) => setImmediate(resolve));
          for (const { who, what } of acts) {
            const holder = holders[who] as TestHolder;
            if (what === 'take') take(holder);
            if (what === 'give' && holder.sits) {
              holder.sits = false;
              seats.give(holder);
            }
            if (what === 'busy') holder.idle = false;
            if (what === 'idle' && holder.sits) {
              holder.idle = true;
              seats.becameIdle();
            }
            await settle();
            expect(holders.filter(({ sits }) => sits).length).toBeLessThanOrEqual(count);
          }
          for (let round = 0; round < 12; round += 1) {
            for (const holder of holders) {
              holder.idle = holder.sits;
            }
            seats.becameIdle();
            await settle();
          }
          expect(waits.size).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
