import { providerConformance } from '../../conformance/provider.ts';
import { openLocalAccount } from './local-account.ts';

providerConformance('local', openLocalAccount);
