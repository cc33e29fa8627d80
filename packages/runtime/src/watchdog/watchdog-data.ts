/** What the main thread hands to the watchdog's thread. */
export interface WatchdogData {
  readonly name: string;
  readonly stallMs: number;
  readonly repeatMs: number;
  readonly fatalMs: number;
  readonly maxReportsPerHour: number;
  /** one 32-bit counter that the main thread raises while its loop turns */
  readonly beats: SharedArrayBuffer;
}
