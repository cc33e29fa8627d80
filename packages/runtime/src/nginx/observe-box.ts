import { observeMachine } from '../machine/observe-machine.ts';
import type { NginxBox } from './size-nginx.ts';

/** nginx raises its limit on open files itself. */
export function observeNginxBox(): NginxBox {
  const { cores, hardDescriptors, somaxconn } = observeMachine();
  return { cores, descriptors: hardDescriptors, somaxconn };
}
