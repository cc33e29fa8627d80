import { startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { vi } from 'vitest';
import { providerConformance } from '../../conformance/provider.ts';
import { openConformanceAccount } from './conformance-account.ts';

providerConformance('RunPod on the fake', async () => {
  const fake = await startFakeRunpod({ knobs: { pod: { bootMs: 200, listenerDelayMs: 0 } } });
  return openConformanceAccount({
    ...{ apiKey: fake.apiKey, restUrl: fake.restV2Url, graphqlUrl: fake.graphqlUrl },
    ...{ image: 'pagefleet/gateway:test', bootTimeoutMs: 30_000, close: () => fake.close() },
  });
});

const { RUNPOD_LIVE_TEST_KEY: key, RUNPOD_LIVE_TEST_IMAGE: image } = process.env;
if (key && image) {
  vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 600_000 });
  providerConformance('RunPod itself', () =>
    openConformanceAccount({
      ...{ apiKey: key, restUrl: 'https://api.runpod.io/v2', graphqlUrl: 'https://api.runpod.io/graphql' },
      ...{ image, bootTimeoutMs: 1_500_000, close: async () => undefined },
    }),
  );
} else {
  const needs =
    'it needs RUNPOD_LIVE_TEST_KEY of an account without pods and RUNPOD_LIVE_TEST_IMAGE, a gateway';
  process.stderr.write(`The provider suite is not run against RunPod itself: ${needs}. It costs money.\n`);
}
