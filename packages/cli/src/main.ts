import { createProgram } from './program.ts';
import { printError } from './terminal/print-error.ts';

// A terminal that closes, or a reader like `head` that has enough, must not end what this command has begun.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

let code = 0;
try {
  await createProgram((exitCode) => {
    code = exitCode;
  }).parseAsync();
} catch (error) {
  code = printError(error);
}
process.exitCode = code;
