export { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from './start-fake-runpod.ts';
