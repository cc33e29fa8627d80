import { type TSchema, Type } from 'typebox';
import type { Collections } from '../account.ts';
import { randomId } from '../cloud.ts';
import { type Answer, json, NO_CONTENT } from '../http/answer.ts';
import { checkBody } from './check-body.ts';
import { paginate } from './paginate.ts';
import { Problem } from './problem.ts';
import type { V2Request, V2Route } from './serve-v2.ts';

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 191 });
const PortList = Type.Array(Type.String({ pattern: '^\\d+/(http|tcp)$' }));

const VolumeCreate = Type.Object(
  {
    name: Name,
    size: Type.Integer({ minimum: 10, maximum: 4_096 }),
    dataCenter: Type.String(),
    type: Type.Optional(Type.Enum(['STANDARD', 'HIGH_PERFORMANCE'])),
  },
  closed,
);
const VolumePatch = Type.Object(
  { name: Type.Optional(Name), size: Type.Optional(Type.Integer({ minimum: 10, maximum: 4_096 })) },
  closed,
);
const TemplateCreate = Type.Object(
  {
    name: Name,
    image: Type.String({ minLength: 1 }),
    serverless: Type.Optional(Type.Boolean()),
    disk: Type.Optional(Type.Integer({ minimum: 1 })),
    ports: Type.Optional(PortList),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    args: Type.Optional(Type.String()),
  },
  closed,
);
const RegistryCreate = Type.Object({ name: Name, username: Type.String(), password: Type.String() }, closed);
const OnlyName = Type.Object({ name: Name }, closed);

interface Kind<K extends keyof Collections> {
  readonly collection: K;
  readonly path: string;
  /** of the list in an answer */
  readonly plural: string;
  readonly title: string;
  readonly create: TSchema;
  readonly patch: TSchema | null;
  make(request: V2Request, body: never): Item<K>;
  change?(item: Item<K>, body: never): void;
  show(item: Item<K>): Record<string, unknown>;
}

type Item<K extends keyof Collections> = Collections[K] extends Map<string, infer V> ? V : never;

const networkVolumes: Kind<'networkVolumes'> = {
  collection: 'networkVolumes',
  path: '/network-volumes',
  plural: 'networkVolumes',
  title: 'network volume',
  create: VolumeCreate,
  patch: VolumePatch,
  make({ service }, body: { name: string; size: number; dataCenter: string; type?: 'STANDARD' }) {
    const known = service.account.catalogue.dataCenters.map(({ id }) => id);
    if (!known.includes(body.dataCenter))
      throw new Problem(400, `unknown data center; valid: ${known.join(', ')}`);
    const { name, size, dataCenter: dataCenterId, type = 'STANDARD' } = body;
    return { id: randomId(10), name, size, dataCenterId, type };
  },
  change(volume, { name = volume.name, size = volume.size }: { name?: string; size?: number }) {
    if (size < volume.size) throw new Problem(400, 'a network volume can only grow');
    Object.assign(volume, { name, size });
  },
  show: ({ dataCenterId, ...volume }) => ({ ...volume, dataCenter: dataCenterId }),
};

const globalVolumes: Kind<'globalVolumes'> = {
  collection: 'globalVolumes',
  path: '/global-volumes',
  plural: 'globalVolumes',
  title: 'global volume',
  create: OnlyName,
  patch: OnlyName,
  make: ({ service }, { name }: { name: string }) => ({
    id: `gsb_${randomId(12)}`,
    name,
    createdAtMs: service.clock.nowMs(),
  }),
  change: (volume, { name }: { name: string }) => void Object.assign(volume, { name }),
  show: ({ id, name, createdAtMs }) => ({
    id,
    name,
    createdAt: new Date(createdAtMs).toISOString(),
    createdByUserId: 'user_fake',
  }),
};

const registries: Kind<'registries'> = {
  collection: 'registries',
  path: '/registries',
  plural: 'registries',
  title: 'registry',
  create: RegistryCreate,
  patch: null,
  make({ service }, { name }: { name: string }) {
    const taken = [...service.account.registries.values()].some((one) => one.name === name);
    if (taken) throw new Problem(400, 'registry name must be unique');
    return { id: randomId(25), name };
  },
  show: (registry) => ({ ...registry }),
};

const templates: Kind<'templates'> = {
  collection: 'templates',
  path: '/templates',
  plural: 'templates',
  title: 'template',
  create: TemplateCreate,
  patch: Type.Partial(TemplateCreate),
  make: (
    _,
    body: {
      name: string;
      image: string;
      serverless?: boolean;
      disk?: number;
      ports?: string[];
      env?: Record<string, string>;
      args?: string;
    },
  ) => ({
    id: randomId(10),
    name: body.name,
    image: body.image,
    serverless: body.serverless ?? false,
    diskGb: body.disk ?? 20,
    volumeGb: 0,
    volumePath: '/workspace',
    args: body.args ?? '',
    ports: body.ports ?? [],
    env: body.env ?? {},
  }),
  change(template, { disk = template.diskGb, ...changes }: { disk?: number }) {
    Object.assign(template, changes, { diskGb: disk });
  },
  show: ({ diskGb, volumeGb: _, volumePath: __, ...template }) => ({ ...template, disk: diskGb }),
};

export const COLLECTION_ROUTES: readonly V2Route[] = [
  ...routesOf(networkVolumes),
  ...routesOf(globalVolumes),
  ...routesOf(registries),
  ...routesOf(templates),
];

/** The five paths that every collection has. */
function routesOf<K extends keyof Collections>(kind: Kind<K>): V2Route[] {
  const { collection, path } = kind;
  const itemsOf = ({ service }: V2Request) =>
    service.account[collection] as unknown as Map<string, Item<K> & { id: string }>;
  const find = (request: V2Request): Item<K> & { id: string } => {
    const item = itemsOf(request).get(request.params.id ?? '');
    if (!item) throw new Problem(404, `${kind.title} not found`);
    return item;
  };
  const list = async (request: V2Request): Promise<Answer> => {
    const { items, ...pagination } = paginate(request, [...itemsOf(request).values()]);
    return json(200, { [kind.plural]: items.map(kind.show), ...pagination });
  };
  const create = async (request: V2Request): Promise<Answer> => {
    const item = kind.make(request, checkBody(kind.create, request.body) as never) as Item<K> & {
      id: string;
    };
    itemsOf(request).set(item.id, item);
    request.service.journal.item(collection, item.id, item);
    return json(201, kind.show(item));
  };
  const patch = async (request: V2Request): Promise<Answer> => {
    const item = find(request);
    kind.change?.(item, checkBody(kind.patch ?? kind.create, request.body) as never);
    request.service.journal.item(collection, item.id, item);
    return json(200, kind.show(item));
  };
  const remove = async (request: V2Request): Promise<Answer> => {
    const item = find(request);
    itemsOf(request).delete(item.id);
    request.service.journal.item(collection, item.id, null);
    return NO_CONTENT;
  };
  const one = `${path}/{id}`;
  return [
    { method: 'GET', pattern: path, handler: list },
    { method: 'POST', pattern: path, handler: create },
    { method: 'GET', pattern: one, handler: async (request) => json(200, kind.show(find(request))) },
    ...(kind.patch ? [{ method: 'PATCH', pattern: one, handler: patch }] : []),
    { method: 'DELETE', pattern: one, handler: remove },
  ];
}
