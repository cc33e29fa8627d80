export type { Bucket, WriteOutcome } from './bus/bucket.ts';
export { type Bus, type BusOptions, connectBus } from './bus/connect-bus.ts';
export { STRANGE_IN_A_PATH } from './config/check-config.ts';
export { type ConfigIssue, configInvalid } from './config/config-issue.ts';
export { configJsonSchema } from './config/config-json-schema.ts';
export { type ConfigOrigin, type LoadedConfig, loadConfig } from './config/load-config.ts';
export { renderConfigReference } from './config/render-config-reference.ts';
export { createHttpApp, type HttpAppOptions } from './http/create-http-app.ts';
export { startingGate } from './http/starting-gate.ts';
export { createLogger, type Logger } from './logger.ts';
export { clampSize } from './machine/clamp-size.ts';
export { observeMachine } from './machine/observe-machine.ts';
export { createMailbox, type Mailbox } from './mailbox.ts';
export { monotonicMs } from './monotonic.ts';
export {
  fillTemplate,
  type GenerationFiles,
  observeNginxBox,
  renderGeneration,
  renderNginxMain,
  sizeNginx,
} from './nginx/index.ts';
export { configHashOf } from './pod/config-hash.ts';
export {
  decodePodMark,
  decodePodSettings,
  defaultEngineSettings,
  encodePodSettings,
  podMarkOf,
  toldSettings,
} from './pod/pod-settings.ts';
export { constantTimeEqual, makeProof, podToken } from './pod/pod-token.ts';
export { podRoute, podTls } from './pod/pod-transport.ts';
export { type PollClock, pollUntil } from './poll-until.ts';
export { freePorts } from './process/free-ports.ts';
export { onShutdown } from './process/on-shutdown.ts';
export {
  isSameProcess,
  observeProcess,
  type ProcessIdentity,
  signalProcess,
} from './process/process-identity.ts';
export { programPath, realNodeBinary, repoRoot } from './program-path.ts';
export { readPromptFile } from './prompt-file.ts';
export { type ClusterPaths, clusterPaths } from './state/cluster-paths.ts';
export { loadClusterFile } from './state/load-cluster-file.ts';
export { makeFolder } from './state/make-folder.ts';
export { readPrivateFile } from './state/private-file.ts';
export { type ClusterSecret, loadOrCreateSecret } from './state/secret.ts';
export { writeFileAtomic } from './state/write-file-atomic.ts';
export { startWatchdog } from './watchdog/start-watchdog.ts';
