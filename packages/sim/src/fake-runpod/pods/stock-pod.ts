import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { realNodeBinary } from '@pagefleet/runtime';
import type { PodRequest } from '../table/pod-record.ts';
import type { Container } from './process-pod.ts';

const SIMULATED_VLLM = join(import.meta.dirname, '../../vllm/main.ts');
/** What the image runs when a create says nothing else; a `cmd` alone is its arguments. */
const ENTRYPOINT = ['vllm', 'serve'];

/**
 * Stands for the stock image of vLLM: the command that was sent runs as it is, with this machine's Python, and the `vllm` it
 * finds is our simulation. What that writes down goes to the pod's folder; `SIM_VLLM_SCRIPT` of the fake's own environment
 * reaches it.
 */
export async function furnishStockPod({ entrypoint, cmd }: PodRequest, dir: string): Promise<Container> {
  const bin = join(dir, 'bin');
  await mkdir(bin, { recursive: true, mode: 0o700 });
  const script = `#!/bin/sh\nexec '${realNodeBinary()}' '${SIMULATED_VLLM}' "$@"\n`;
  await writeFile(join(bin, 'vllm'), script, { mode: 0o700 });
  const [program = '', ...args] = [...(entrypoint.length === 0 ? ENTRYPOINT : entrypoint), ...cmd];
  const { PATH = '', SIM_VLLM_SCRIPT } = process.env;
  const env = {
    PATH: `${bin}${delimiter}${PATH}`,
    SIM_VLLM_DIR: dir,
    ...(SIM_VLLM_SCRIPT === undefined ? {} : { SIM_VLLM_SCRIPT }),
  };
  return { program, args, env };
}
