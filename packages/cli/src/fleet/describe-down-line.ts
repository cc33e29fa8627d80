/** One line of the controller's answer to `down`, as it comes; unknown kinds say nothing. */
interface DownLine {
  readonly type?: string;
  readonly remaining?: number | readonly string[];
  readonly in_flight?: number;
  readonly ended?: number;
  readonly message?: string;
  readonly pods?: readonly { readonly id: string; readonly state: string }[];
}

export function describeDownLine(line: DownLine): string | null {
  switch (line.type) {
    case 'progress':
      return line.remaining === 0
        ? 'no pod is left; waiting for two listings that show none'
        : `draining: ${line.remaining} pods left (${(line.pods ?? []).map((pod) => pod.state).join(', ')}), ${line.in_flight} pages in flight`;
    case 'done':
      return `${line.ended} pods ended`;
    case 'kept':
      return `${line.pods?.length ?? 0} pods are kept`;
    case 'failed':
      return line.message ?? 'the controller could not end every pod';
    default:
      return null;
  }
}
