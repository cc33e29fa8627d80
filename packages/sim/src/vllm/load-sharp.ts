import type sharp from 'sharp';

let loading: Promise<typeof sharp> | null = null;

/** Loaded with the first picture: a server that only chats starts without it. */
export function loadSharp(): Promise<typeof sharp> {
  loading ??= import('sharp').then(({ default: loaded }) => {
    loaded.concurrency(1);
    loaded.cache(false);
    return loaded;
  });
  return loading;
}
