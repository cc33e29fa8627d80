import type { Endpoint, NetworkVolume, Registry, Template } from '../account.ts';
import { randomId } from '../cloud.ts';
import { graphqlEndpoint, graphqlVolume } from './collection-view.ts';
import { splitPorts } from './deploy-input.ts';
import { graphqlFault } from './graphql-fault.ts';
import { userOf } from './queries.ts';
import type { GraphqlContext } from './serve-graphql.ts';

interface TemplateInput {
  readonly id?: string | null;
  readonly name: string;
  readonly imageName: string;
  readonly dockerArgs?: string | null;
  readonly env?: readonly { readonly key: string; readonly value: string }[] | null;
  readonly ports?: string | null;
  readonly containerDiskInGb: number;
  readonly volumeInGb: number;
  readonly volumeMountPath?: string | null;
  readonly isServerless?: boolean | null;
}

interface EndpointInput extends Record<string, unknown> {
  readonly id?: string | null;
  readonly name: string;
  readonly workersMin?: number | null;
  readonly workersMax?: number | null;
}

/** Volumes, registries, templates, endpoints and the account's own settings. */
export function createCollectionMutations(context: GraphqlContext, requireWriter: () => void) {
  const { account, journal } = context.service;

  return {
    createNetworkVolume({ input }: { input: { name: string; size: number; dataCenterId: string } }) {
      requireWriter();
      const volume: NetworkVolume = { id: randomId(10), ...input, type: 'STANDARD' };
      account.networkVolumes.set(volume.id, volume);
      journal.item('networkVolumes', volume.id, volume);
      return graphqlVolume(volume);
    },
    updateNetworkVolume({ input }: { input: { id: string; name?: string | null; size?: number | null } }) {
      requireWriter();
      const volume = account.networkVolumes.get(input.id);
      if (!volume) throw graphqlFault('network volume not found');
      if (input.size != null && input.size < volume.size)
        throw graphqlFault('a network volume can only grow');
      volume.name = input.name ?? volume.name;
      volume.size = input.size ?? volume.size;
      journal.item('networkVolumes', volume.id, volume);
      return graphqlVolume(volume);
    },
    deleteNetworkVolume({ input }: { input: { id: string } }) {
      requireWriter();
      if (!account.networkVolumes.delete(input.id)) {
        throw graphqlFault('Tried to delete nonexistent network volume');
      }
      journal.item('networkVolumes', input.id, null);
      return null;
    },
    saveRegistryAuth({ input }: { input: { name: string } }) {
      requireWriter();
      if ([...account.registries.values()].some(({ name }) => name === input.name)) {
        throw graphqlFault('Registry auth name must be unique');
      }
      // User name and password are good for nothing here and are not kept.
      const registry: Registry = { id: randomId(25), name: input.name };
      account.registries.set(registry.id, registry);
      journal.item('registries', registry.id, registry);
      return registry;
    },
    deleteRegistryAuth({ registryAuthId }: { registryAuthId: string }) {
      requireWriter();
      if (!account.registries.delete(registryAuthId)) throw graphqlFault('registry auth not found');
      journal.item('registries', registryAuthId, null);
      return null;
    },
    saveTemplate({ input }: { input: TemplateInput }) {
      requireWriter();
      const template = templateOf(input);
      account.templates.set(template.id, template);
      journal.item('templates', template.id, template);
      return {
        id: template.id,
        name: template.name,
        imageName: template.image,
        isServerless: template.serverless,
      };
    },
    deleteTemplate({ templateName }: { templateName: string }) {
      requireWriter();
      const found = [...account.templates.values()].find(({ name }) => name === templateName);
      if (!found) throw graphqlFault('template not found');
      account.templates.delete(found.id);
      journal.item('templates', found.id, null);
      return null;
    },
    ...endpointMutations(context, requireWriter),
    updateUserSettings({ input }: { input: { pubKey?: string | null } }) {
      requireWriter();
      account.sshKeys = (input.pubKey ?? '').split('\n').filter((key) => key.trim() !== '');
      return userOf(context);
    },
  };
}

function endpointMutations({ service }: GraphqlContext, requireWriter: () => void) {
  const { account, journal, clock } = service;
  const save = (endpoint: Endpoint) => {
    account.endpoints.set(endpoint.id, endpoint);
    journal.item('endpoints', endpoint.id, endpoint);
    return graphqlEndpoint(endpoint);
  };
  return {
    /** By id it replaces the whole, never a part. */
    saveEndpoint({ input }: { input: EndpointInput }) {
      requireWriter();
      const { id, name, workersMin, workersMax, ...body } = input;
      if (name.length < 3) throw graphqlFault('name must be at least 3 characters');
      const before = id ? account.endpoints.get(id) : undefined;
      if (id && !before) throw graphqlFault('endpoint not found');
      const max = workersMax ?? 3;
      const others = [...account.endpoints.values()].filter((one) => one !== before);
      const quota = account.knobs.maxServerlessWorkers;
      if (others.reduce((sum, one) => sum + one.workersMax, max) > quota) {
        throw graphqlFault(`Max workers across all endpoints must not exceed your workers quota (${quota})`);
      }
      return save({
        id: before?.id ?? randomId(14),
        createdAtMs: before?.createdAtMs ?? clock.nowMs(),
        name,
        body,
        workersMin: workersMin ?? 0,
        workersMax: max,
        loadBalancer: body.type === 'LB',
      });
    },
    deleteEndpoint({ id }: { id: string }) {
      requireWriter();
      if (!account.endpoints.delete(id)) throw graphqlFault('endpoint not found');
      journal.item('endpoints', id, null);
      return null;
    },
    updateEndpointTemplate({ input }: { input: { endpointId: string; templateId: string } }) {
      requireWriter();
      const endpoint = account.endpoints.get(input.endpointId);
      if (!endpoint) throw graphqlFault('endpoint not found');
      return save({ ...endpoint, body: { ...endpoint.body, templateId: input.templateId } });
    },
  };
}

function templateOf(input: TemplateInput): Template {
  return {
    id: input.id ?? randomId(10),
    name: input.name,
    image: input.imageName,
    serverless: input.isServerless ?? false,
    diskGb: input.containerDiskInGb,
    volumeGb: input.volumeInGb,
    volumePath: input.volumeMountPath ?? '/workspace',
    args: input.dockerArgs ?? '',
    ports: splitPorts(input.ports ?? ''),
    env: Object.fromEntries((input.env ?? []).map(({ key, value }) => [key, value])),
  };
}
