/** Passes values on in the order of their positions 0, 1, 2, …, whatever the order in which they come. */
export function createInOrder<T>(
  emit: (value: T, position: number) => void,
): (position: number, value: T) => void {
  const early = new Map<number, T>();
  let next = 0;
  return (position, value) => {
    early.set(position, value);
    for (let ready = early.get(next); early.has(next); ready = early.get(next)) {
      early.delete(next);
      next += 1;
      emit(ready as T, next - 1);
    }
  };
}
