/** Runs `act` for every item, at most `limit` at a time. Rejects with the first failure, once all that run are over. */
export async function runLimited<T>(
  items: readonly T[],
  limit: number,
  act: (item: T, position: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const [position, item] of left) {
      if (failed) return;
      try {
        await act(item, position);
      } catch (cause) {
        failed = true;
        throw cause;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
}
