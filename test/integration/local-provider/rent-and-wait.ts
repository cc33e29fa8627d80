import { text } from 'node:stream/consumers';
import { createLocalProvider } from '@pagefleet/providers';
import { createLogger, realNodeBinary } from '@pagefleet/runtime';

/** Started by `rentAndDie`: rents one pod, says so, and waits to be killed. */
const { accountDir, request } = JSON.parse(await text(process.stdin));
const logger = createLogger({ component: 'renter', level: 'silent' });
const provider = createLocalProvider({ accountDir, logger, nodeBinary: realNodeBinary() });
const outcome = await provider.rent(request);
process.stdout.write(`${JSON.stringify(outcome)}\n`);
setInterval(() => undefined, 60_000);
