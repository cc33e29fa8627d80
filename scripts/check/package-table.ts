/** Which package may import which (DESIGN section 4). Nothing else is allowed. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  core: ['contract'],
  runtime: ['contract'],
  providers: ['contract', 'core', 'runtime'],
  engines: ['contract', 'runtime'],
  dataplane: ['contract', 'core', 'engines', 'runtime'],
  worker: ['contract', 'dataplane', 'runtime'],
  controller: ['contract', 'core', 'providers', 'runtime'],
  gateway: ['contract', 'engines', 'runtime'],
  client: ['contract'],
  cli: ['client', 'contract', 'providers', 'runtime'],
  sim: ['contract', 'core', 'providers', 'runtime'],
  bench: ['contract', 'runtime'],
};

/** Packages that anyone's tests may use; they are declared once, at the root. */
export const TEST_TOOLS: readonly string[] = ['vitest', 'fast-check'];
