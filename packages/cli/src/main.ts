import { createProgram } from './program.ts';
import { printError } from './terminal/print-error.ts';

let code = 0;
try {
  await createProgram((exitCode) => {
    code = exitCode;
  }).parseAsync();
} catch (error) {
  code = printError(error);
}
process.exitCode = code;
