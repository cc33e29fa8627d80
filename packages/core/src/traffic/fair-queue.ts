import { LinkedList, type ListNode } from './linked-list.ts';

export interface QueueItem {
  /** API key (its id) that the page is charged to */
  readonly key: string;
  readonly document: string;
  /** when the page was first admitted; kept when it is put back */
  readonly enqueuedAtMs: number;
}

interface KeyLine<Item> {
  readonly key: string;
  /** the ring of this key's documents that have pages waiting */
  readonly ring: LinkedList<DocumentLine<Item>>;
  readonly byDocument: Map<string, ListNode<DocumentLine<Item>>>;
}

interface DocumentLine<Item> {
  readonly document: string;
  readonly keyNode: ListNode<KeyLine<Item>>;
  readonly items: LinkedList<Item>;
}

interface Place<Item> {
  readonly lineNode: ListNode<DocumentLine<Item>>;
  readonly inLine: ListNode<Item>;
  readonly inArrival: ListNode<Item>;
}

/**
 * The waiting pages of one pool, taken in turn: fair first between keys, then between a key's documents, first come first
 * served within a document.
 *
 *   ring of keys ─► key a ─► ring of documents ─► d1 ─► p4 p5 p6
 *               └─► key b ─► …                └─► d2 ─► p1
 *
 * Every operation is O(1), `removeDocument` in the pages removed. The bound holds for new pages; a page that is put back
 * was admitted before and is never refused.
 */
export class FairQueue<Item extends QueueItem> {
  readonly #maxItems: number;
  readonly #ring = new LinkedList<KeyLine<Item>>();
  readonly #byKey = new Map<string, ListNode<KeyLine<Item>>>();
  readonly #places = new Map<Item, Place<Item>>();
  /** all items, the longest waiting first */
  readonly #arrivals = new LinkedList<Item>();

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  get size(): number {
    return this.#places.size;
  }

  /** False when the queue is full; an item that is in it already stays where it is. */
  push(item: Item): boolean {
    if (this.#places.has(item)) return true;
    if (this.size >= this.#maxItems) return false;
    const lineNode = this.#lineOf(item);
    const inLine = lineNode.value.items.pushBack(item);
    this.#places.set(item, { lineNode, inLine, inArrival: this.#arrivals.pushBack(item) });
    return true;
  }

  /** Puts a page that lost its pod back at the front of its document. */
  putBack(item: Item): void {
    if (this.#places.has(item)) return;
    const lineNode = this.#lineOf(item);
    const inLine = lineNode.value.items.pushFront(item);
    this.#places.set(item, { lineNode, inLine, inArrival: this.#arrivals.pushFront(item) });
  }

  /** The next page by turn. */
  shift(): Item | undefined {
    const keyNode = this.#ring.first;
    const lineNode = keyNode?.value.ring.first;
    const item = lineNode?.value.items.first?.value;
    if (keyNode === undefined || lineNode === undefined || item === undefined) return undefined;
    keyNode.value.ring.moveToBack(lineNode);
    this.#ring.moveToBack(keyNode);
    this.remove(item);
    return item;
  }

  /** False when the item is not waiting here. */
  remove(item: Item): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    this.#arrivals.remove(place.inArrival);
    place.lineNode.value.items.remove(place.inLine);
    if (place.lineNode.value.items.size === 0) this.#dropLine(place.lineNode);
    return true;
  }

  /** Takes out every waiting page of a document, in page order. */
  removeDocument(key: string, document: string): Item[] {
    const removed: Item[] = [];
    const line = this.#byKey.get(key)?.value.byDocument.get(document)?.value;
    for (let node = line?.items.first; node !== undefined; node = node.next) removed.push(node.value);
    for (const item of removed) this.remove(item);
    return removed;
  }

  sizeOfDocument(key: string, document: string): number {
    return this.#byKey.get(key)?.value.byDocument.get(document)?.value.items.size ?? 0;
  }

  /** How long the longest waiting page has waited; 0 when none waits. */
  oldestWaitMs(nowMs: number): number {
    const oldest = this.#arrivals.first?.value;
    return oldest === undefined ? 0 : Math.max(0, nowMs - oldest.enqueuedAtMs);
  }

  #lineOf({ key, document }: Item): ListNode<DocumentLine<Item>> {
    const keyNode = this.#keyNodeOf(key);
    const known = keyNode.value.byDocument.get(document);
    if (known) return known;
    const lineNode = keyNode.value.ring.pushBack({ document, keyNode, items: new LinkedList() });
    keyNode.value.byDocument.set(document, lineNode);
    return lineNode;
  }

  #keyNodeOf(key: string): ListNode<KeyLine<Item>> {
    const known = this.#byKey.get(key);
    if (known) return known;
    const keyNode = this.#ring.pushBack({ key, ring: new LinkedList(), byDocument: new Map() });
    this.#byKey.set(key, keyNode);
    return keyNode;
  }

  #dropLine(lineNode: ListNode<DocumentLine<Item>>): void {
    const { keyNode, document } = lineNode.value;
    const { ring, byDocument, key } = keyNode.value;
    ring.remove(lineNode);
    byDocument.delete(document);
    if (byDocument.size > 0) return;
    this.#ring.remove(keyNode);
    this.#byKey.delete(key);
  }
}
