/** libuv's pool reads files, starts nothing and draws pages; beside them a few for files and names. */
const BESIDE_PAGES = 4;
const LARGEST = 128;

/**
 * Sizes the thread pool from the width, before anything has used the pool or read the settings: one thread per
 * page, so that no page waits inside the pod for a thread while its slot is taken.
 */
export function sizePools(env: NodeJS.ProcessEnv): void {
  const width = Number(env.PAGEFLEET_POD_WIDTH);
  if (!Number.isInteger(width) || width < 1) return;
  env.UV_THREADPOOL_SIZE = String(Math.min(width + BESIDE_PAGES, LARGEST));
}
