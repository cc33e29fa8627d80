import { runVllm } from './run-vllm.ts';

try {
  await runVllm(process.argv.slice(2), process.env);
} catch (error) {
  process.stderr.write(`simulated vllm: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
