interface Clamp {
  /** of what: `backlog` */
  readonly name: string;
  readonly wanted: number;
  /** what the machine allows */
  readonly most: number;
  /** what says so: `net.core.somaxconn` */
  readonly by: string;
}

/** The size that is wanted, or the most that is allowed; then `said` gets a line for the operator. */
export function clampSize({ name, wanted, most, by }: Clamp, said: string[]): number {
  if (wanted <= most) return wanted;
  said.push(`${name} ${wanted} → ${most} by ${by}`);
  return most;
}
