/** For a program that a test starts with an environment of its own: modules stay compiled, as those of a cluster's programs do. */
export const COMPILE_CACHE: Readonly<Record<string, string>> = process.env.NODE_COMPILE_CACHE
  ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  : {};
