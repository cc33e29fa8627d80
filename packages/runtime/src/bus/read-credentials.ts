import { PagefleetError } from '@pagefleet/contract';
import { readPrivateFile } from '../state/private-file.ts';

export interface BusCredentials {
  readonly user: string;
  readonly pass: string;
}

export function readCredentials(file: string): BusCredentials {
  let value: Partial<BusCredentials>;
  try {
    value = JSON.parse(readPrivateFile(file)) as Partial<BusCredentials>;
  } catch (cause) {
    if (cause instanceof PagefleetError) throw cause;
    throw new PagefleetError('config_invalid', `The NATS credentials ${file} cannot be read.`, { cause });
  }
  if (typeof value?.user !== 'string' || typeof value.pass !== 'string') {
    throw new PagefleetError('config_invalid', `The NATS credentials ${file} hold no user and pass.`);
  }
  return { user: value.user, pass: value.pass };
}
