import type { Endpoint, NetworkVolume } from '../account.ts';

export function graphqlVolume({ id, name, size, dataCenterId }: NetworkVolume) {
  return { id, name, size, dataCenterId, dataCenter: { id: dataCenterId, name: dataCenterId } };
}

export function graphqlEndpoint(endpoint: Endpoint) {
  const { id, name, body, workersMin, workersMax, createdAtMs } = endpoint;
  return {
    ...body,
    id,
    name,
    workersMin,
    workersMax,
    workersStandby: workersMax > 1 ? 1 : 0,
    createdAt: new Date(createdAtMs).toISOString(),
    version: 1,
    pods: [],
    template: null,
  };
}
