import { Command, Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import type { ConfigOptions } from './cluster/environment.ts';
import { checkConfig, printConfigReference, printConfigSchema, showConfig } from './commands/config.ts';
import { down } from './commands/down.ts';
import { logs } from './commands/logs.ts';
import { ocr } from './commands/ocr.ts';
import { plan, status } from './commands/status.ts';
import { up } from './commands/up.ts';
import { OCR_FORMATS } from './ocr/format-pages.ts';

/** The command line; `done` gets the exit code of the command that ran. */
export function createProgram(done: (code: number) => void): Command {
  const program = new Command('pagefleet')
    .description(
      'Rents pods, keeps as many as the work pays for, and reads scanned pages through one HTTP endpoint.',
    )
    .version(packageJson.version, '-V, --version', 'which version this is')
    .showHelpAfterError()
    .enablePositionalOptions();

  const withCluster = (command: Command): Command =>
    command
      .option('-c, --config <file>', 'configuration file (pagefleet.yaml in this folder, if there is one)')
      .option('-s, --state <dir>', 'state directory (state_dir of the configuration)');

  withCluster(program.command('up'))
    .description('start the cluster and stay; Ctrl-C ends it and its pods')
    .option('-d, --detach', 'return when it is ready; end it with `pagefleet down`')
    .option('--demo', 'read the bundled sample once it is ready')
    .addOption(
      new Option(
        '--provider <name>',
        'a safe rehearsal of a rented fleet: rent from a pretended RunPod on this machine',
      ).choices(['fake-runpod']),
    )
    .action(async (options) => done(await up(options)));
  withCluster(program.command('down'))
    .description('drain, end every pod, stop every process; exit code 1 if anything may still bill')
    .option('--keep-pods', 'leave the pods to be taken over by the next `up`')
    .action(async (options) => done(await down(options)));
  withCluster(program.command('status'))
    .description('pods, workers, pages and money now')
    .option('--json', 'as the endpoint answers it')
    .action(async (options) => done(await status(options)));
  withCluster(program.command('plan'))
    .description('what the controller would do next, and why')
    .option('--json', 'as the endpoint answers it')
    .action(async (options) => done(await plan(options)));
  withCluster(program.command('logs'))
    .description('the end of one program’s log; without a name, which logs there are')
    .argument('[program]', 'nats, controller, workers, nginx, supervisord, cli')
    .action(async (name: string | undefined, options) => done(await logs(name, options)));
  addOcr(withCluster(program.command('ocr')), done);
  addConfig(program, withCluster, done);
  return program;
}

function addOcr(command: Command, done: (code: number) => void): void {
  command
    .description('read documents: PDF, PNG, JPEG, TIFF, WebP')
    .argument('<file...>', 'documents')
    .option('-o, --out <dir>', 'write one file per document there instead of to stdout')
    .option('-f, --format <format>', OCR_FORMATS.join(', '), 'text')
    .option('-p, --pages <pages>', 'pages to read, counted from 1: 3 or 1,4-7')
    .option('-l, --lang <codes>', 'languages, such as eng or deu+eng')
    .option('-m, --model <name>', 'pool or model that reads')
    .option('-u, --url <url>', 'endpoint, if it is not the cluster of this folder (PAGEFLEET_URL)')
    .addHelpText(
      'after',
      `
An API key is taken from PAGEFLEET_API_KEY. Exit code: 0 every page was read; 2 a document, or some of its pages, could not
be read (each is named with its reason); 1 anything else.`,
    )
    .action(async (files: string[], options) => done(await ocr(files, options)));
}

function addConfig(
  program: Command,
  withCluster: (command: Command) => Command,
  done: (code: number) => void,
): void {
  const config = program.command('config').description('check and show the configuration');
  withCluster(config.command('check'))
    .description('every problem with its place, what was found and what is expected')
    .action(async (options: ConfigOptions) => done(await checkConfig(options)));
  withCluster(config.command('show'))
    .description('every setting in force and where its value comes from')
    .action((options: ConfigOptions) => done(showConfig(options)));
  config
    .command('docs')
    .description('the reference page, as in docs/config.md')
    .action(() => done(printConfigReference()));
  config
    .command('schema')
    .description('the JSON schema, for editors')
    .action(() => done(printConfigSchema()));
}
