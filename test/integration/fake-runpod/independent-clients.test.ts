import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { realNodeBinary } from '@pagefleet/runtime';
import type { FakeRunpod } from '@pagefleet/sim/fake-runpod';
import runpodSdk from 'runpod-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { A40, startClient } from './fake-client.ts';

interface McpServer {
  readonly tools: () => Promise<string[]>;
  /** the tool's answer, parsed; a tool that reports an error throws its text */
  readonly call: (name: string, args?: object) => Promise<Record<string, unknown>>;
  end(): void;
}

const servers: McpServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.end();
});

/** RunPod's own MCP server, with its own API client inside, as a process that knows only the fake's addresses. */
function startMcpServer(fake: FakeRunpod): McpServer {
  const manifest = createRequire(import.meta.url).resolve('@runpod/mcp-server/package.json');
  const child = spawn(realNodeBinary(), [join(dirname(manifest), 'dist/stdio.mjs')], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      RUNPOD_API_KEY: fake.apiKey,
      RUNPOD_API_BASE_URL: fake.url,
      RUNPOD_SERVERLESS_API_URL: fake.invokeUrl,
      RUNPOD_PUBLIC_GRAPHQL_URL: fake.graphqlUrl,
      RUNPOD_AUTHED_GRAPHQL_URL: fake.graphqlUrl,
    },
  });
  const waiting = new Map<number, (result: unknown) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
    if (id !== undefined) waiting.get(id)?.(result ?? error);
  });
  let lastId = 0;
  const ask = <T>(method: string, params: object): Promise<T> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve as (result: unknown) => void);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })}\n`);
    });
  const ready = ask('initialize', {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'pagefleet-test', version: '1' },
  }).then(() =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`),
  );

  const server: McpServer = {
    async tools() {
      await ready;
      const { tools } = await ask<{ tools: { name: string }[] }>('tools/list', {});
      return tools.map(({ name }) => name);
    },
    async call(name, args = {}) {
      await ready;
      const { content, isError } = await ask<{ content: { text: string }[]; isError?: boolean }>(
        'tools/call',
        {
          name,
          arguments: args,
        },
      );
      const text = content[0]?.text ?? '';
      if (isError) throw new Error(text);
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    },
    end: () => void child.kill('SIGKILL'),
  };
  servers.push(server);
  return server;
}

describe("RunPod's own MCP server drives the fake unchanged", () => {
  it('from_catalogue_to_billing', async () => {
    const { fake } = await startClient();
    const mcp = startMcpServer(fake);
    expect(await mcp.tools()).toContain('create-pod');

    const gpus = await mcp.call('list-gpu-types', {
      include: ['AVAILABILITY'],
      product: ['POD'],
      cloud: 'SECURE',
    });
    expect(JSON.stringify(gpus)).toContain(`"id":"${A40}"`);
    const capacity = await mcp.call('get-capacity', { gpuTypeIds: [A40] });
    expect(JSON.stringify(capacity)).toContain('"stockStatus":"High"');

    const created = await mcp.call('create-pod', {
      body: { name: 'mcp-pod', image: 'acme/ocr:1', gpu: { id: A40, count: 1 }, ports: ['8000/http'] },
    });
    const id = String(created.id);
    expect(fake.pod(id)?.request.name).toBe('mcp-pod');
    expect(JSON.stringify(await mcp.call('list-pods'))).toContain(id);
    await fake.advance(3_600_000);
    expect(await mcp.call('get-pod', { id })).toMatchObject({
      id,
      status: 'RUNNING',
      runtime: { uptime: 2_900 },
    });
    expect(await mcp.call('pod-action', { id, body: { action: 'stop' } })).toMatchObject({
      status: 'EXITED',
    });
    await mcp.call('delete-pod', { id });
    await expect(mcp.call('get-pod', { id })).rejects.toThrow(/not found/i);
    expect(await mcp.call('list-pod-billing', { podId: id })).toMatchObject({
      metadata: { totals: { totalAmount: 0.44 } },
    });

    const volume = await mcp.call('create-network-volume', {
      body: { name: 'v', size: 10, dataCenter: 'EU-SE-1' },
    });
    await mcp.call('delete-network-volume', { id: volume.id });
    expect(fake.account.networkVolumes.size).toBe(0);
  });

  it('it_understands_a_refusal_for_want_of_capacity', async () => {
    const { fake } = await startClient();
    fake.setStock({}, { free: 0 });
    const body = { name: 'p', image: 'acme/ocr:1', gpu: { id: A40, count: 1 } };
    await expect(startMcpServer(fake).call('create-pod', { body })).rejects.toThrow(
      /no longer any instances/,
    );
  });

  it('it_runs_a_serverless_job', async () => {
    const { fake } = await startClient({ speed: 1, knobs: { jobMs: 20 } });
    const mcp = startMcpServer(fake);
    const endpoint = await mcp.call('create-endpoint', {
      body: {
        name: 'ocr',
        type: 'QUEUE',
        image: 'acme/w:1',
        gpu: { pools: ['AMPERE_48'], count: 1 },
        workers: { min: 0, max: 1 },
      },
    });
    expect(String(endpoint.id)).toMatch(/^[a-z0-9]{14}$/);
    expect(JSON.stringify(await mcp.call('list-endpoints'))).toContain(String(endpoint.id));
    expect(await mcp.call('list-endpoint-workers', { id: endpoint.id })).toMatchObject({
      summary: { total: 1 },
    });
  });
});

describe("RunPod's JavaScript SDK, which knows the serverless services only", () => {
  it('runs_a_job_and_reads_the_health', async () => {
    const client = await startClient({ speed: 1, knobs: { jobMs: 20 } });
    const made = await client.v2('POST', '/serverless', {
      name: 'ocr',
      type: 'QUEUE',
      image: 'i',
      gpu: { pools: [] },
    });
    const sdk = runpodSdk(client.fake.apiKey, { baseUrl: client.fake.invokeUrl });
    const endpoint = sdk.endpoint(String(made.body.id));
    const result = await endpoint?.runSync({ input: { page: 7 } });
    expect(result).toMatchObject({ completed: true, succeeded: true, output: { echo: { page: 7 } } });
    expect(await endpoint?.health()).toMatchObject({ jobs: { completed: 1 } });
  });
});
