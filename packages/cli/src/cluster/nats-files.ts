import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClusterPaths, writeFileAtomic } from '@pagefleet/runtime';

interface NatsCredentials {
  readonly user: string;
  readonly pass: string;
}

/** The server's configuration and the credentials of its clients, both 0600, made once and kept. */
export async function writeNatsFiles(paths: ClusterPaths, port: number): Promise<void> {
  const credentials = readCredentials(paths.natsCredentialsFile) ?? {
    user: 'pagefleet',
    pass: randomBytes(24).toString('hex'),
  };
  await writeFileAtomic(paths.natsCredentialsFile, `${JSON.stringify(credentials)}\n`, 0o600);
  await writeFileAtomic(paths.natsConfFile, renderNatsConf(paths, port, credentials), 0o600);
}

/** Bounded on disk: what it keeps can all be made again from the journal, the provider's listing and the reports. */
function renderNatsConf(paths: ClusterPaths, port: number, { user, pass }: NatsCredentials): string {
  return `listen: "127.0.0.1:${port}"
server_name: "pagefleet"
jetstream {
  store_dir: "${join(paths.natsDir, 'data')}"
  max_memory_store: 64MB
  max_file_store: 256MB
}
authorization { user: "${user}", password: "${pass}" }
max_payload: 4MB
ping_interval: "10s"
ping_max: 3
`;
}

function readCredentials(file: string): NatsCredentials | null {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<NatsCredentials>;
    return value.user && value.pass ? { user: value.user, pass: value.pass } : null;
  } catch {
    return null;
  }
}
