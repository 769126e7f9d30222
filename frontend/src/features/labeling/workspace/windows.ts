type Message = 'taking' | 'taken';

/** The other window writes its drafts down in this time. */
const PUT_DOWN_MS = 150;
/** The server has moved the leases by then. */
const MOVED_MS = 1500;

const nameOf = (person: string, task: string) => `atom-labeling/${person}/${task}`;

/** Says to the other windows of this person that this one takes their work over; they write it down first. */
export async function announceTaking(person: string, task: string): Promise<void> {
  if (typeof BroadcastChannel === 'undefined') return;
  const channel = new BroadcastChannel(nameOf(person, task));
  channel.postMessage('taking' satisfies Message);
  await new Promise((resolve) => setTimeout(resolve, PUT_DOWN_MS));
  setTimeout(() => {
    channel.postMessage('taken' satisfies Message);
    channel.close();
  }, MOVED_MS);
}

/** Listens to the other windows; returns how to stop. */
export function onTaken(person: string, task: string, act: Record<Message, () => void>): () => void {
  if (typeof BroadcastChannel === 'undefined') return () => {};
  const channel = new BroadcastChannel(nameOf(person, task));
  channel.onmessage = ({ data }: MessageEvent<Message>) => act[data]?.();
  return () => channel.close();
}
