import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const CudaVersion = Type.String({ pattern: '^\\d+\\.\\d+$' });
const VolumeMount = Type.Object({ volumeId: Type.String(), path: Type.String() }, closed);
const Port = Type.String({ pattern: '^\\d+/(http|tcp)$' });

const Mounts = Type.Object(
  {
    persistent: Type.Optional(
      Type.Object({ size: Type.Integer({ minimum: 10 }), path: Type.String() }, closed),
    ),
    network: Type.Optional(Type.Array(VolumeMount, { maxItems: 1 })),
    global: Type.Optional(Type.Array(VolumeMount, { maxItems: 1 })),
  },
  closed,
);

const changeable = {
  image: Type.Optional(Type.String({ minLength: 1 })),
  args: Type.Optional(Type.String()),
  cmd: Type.Optional(Type.Array(Type.String())),
  entrypoint: Type.Optional(Type.Array(Type.String())),
  disk: Type.Optional(Type.Integer({ minimum: 1 })),
  ports: Type.Optional(Type.Array(Port)),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  registry: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  mounts: Type.Optional(Mounts),
  globalNetworking: Type.Optional(Type.Boolean()),
  templateId: Type.Optional(Type.String()),
};

export const PodCreate = Type.Object(
  {
    ...changeable,
    name: Type.String({ minLength: 1 }),
    gpu: Type.Optional(
      Type.Object(
        {
          id: Type.String(),
          count: Type.Optional(Type.Integer({ minimum: 1 })),
          minCudaVersion: Type.Optional(CudaVersion),
          allowedCudaVersions: Type.Optional(Type.Array(CudaVersion)),
          minVcpuCountPerGpu: Type.Optional(Type.Integer({ minimum: 1 })),
          minRamPerGpu: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
    ),
    cpu: Type.Optional(Type.Object({ id: Type.String(), vcpuCount: Type.Integer({ minimum: 2 }) }, closed)),
    cloud: Type.Optional(Type.Enum(['SECURE', 'COMMUNITY'])),
    dataCenterIds: Type.Optional(Type.Array(Type.String())),
    startSsh: Type.Optional(Type.Boolean()),
    startJupyter: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type PodCreate = Static<typeof PodCreate>;

export const PodPatch = Type.Object(
  {
    ...changeable,
    name: Type.Optional(Type.String({ minLength: 1 })),
    locked: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type PodPatch = Static<typeof PodPatch>;

export const PodAction = Type.Object(
  { action: Type.Enum(['start', 'stop', 'restart', 'terminate']) },
  closed,
);
