export interface ListNode<T> {
  readonly value: T;
  prev: ListNode<T> | undefined;
  next: ListNode<T> | undefined;
}

/**
 * A doubly linked list: every operation is O(1). An array costs O(n) at its front, and a `Map` rotated by delete and set
 * leaves holes at its front that every look at the first entry has to skip.
 */
export class LinkedList<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;
  #size = 0;

  get first(): ListNode<T> | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  pushBack(value: T): ListNode<T> {
    const node: ListNode<T> = { value, prev: this.#last, next: undefined };
    this.#linkBack(node);
    return node;
  }

  pushFront(value: T): ListNode<T> {
    const node: ListNode<T> = { value, prev: undefined, next: this.#first };
    if (this.#first) this.#first.prev = node;
    else this.#last = node;
    this.#first = node;
    this.#size += 1;
    return node;
  }

  /** The node must be in this list. */
  remove(node: ListNode<T>): void {
    if (node.prev) node.prev.next = node.next;
    else this.#first = node.next;
    if (node.next) node.next.prev = node.prev;
    else this.#last = node.prev;
    node.prev = undefined;
    node.next = undefined;
    this.#size -= 1;
  }

  moveToBack(node: ListNode<T>): void {
    this.remove(node);
    node.prev = this.#last;
    this.#linkBack(node);
  }

  #linkBack(node: ListNode<T>): void {
    if (this.#last) this.#last.next = node;
    else this.#first = node;
    this.#last = node;
    this.#size += 1;
  }
}
