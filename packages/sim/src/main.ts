import { runFakeRunpod } from './fake-runpod/run-fake-runpod.ts';

await runFakeRunpod(process.argv[2]);
