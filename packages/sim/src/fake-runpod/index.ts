export { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from './start-fake-runpod.ts';
export { observePod } from './table/observe-pod.ts';
