/** `taking`: write your work down, this window takes it over. `taken`: this window has taken work up. */
type Message = 'taking' | 'taken';

/** The other window writes its drafts down in this time. */
const PUT_DOWN_MS = 150;

/** The other windows of a person that are open on the same work. */
export interface Windows {
  /** Tells them to write their work down; resolves when they had the time. */
  taking: () => Promise<void>;
  /** Tells them that work was taken up here: perhaps it was theirs. */
  taken: () => void;
  close: () => void;
}

const ALONE: Windows = { taking: async () => {}, taken: () => {}, close: () => {} };

/** Opens the channel between the windows of this person on a task; `act` runs when another one says something. */
export function openWindows(person: string, task: string, act: Record<Message, () => void>): Windows {
  if (typeof BroadcastChannel === 'undefined') return ALONE;
  const channel = new BroadcastChannel(`atom-labeling/${person}/${task}`);
  let isOpen = true;
  const say = (message: Message) => {
    if (isOpen) channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => act[data]?.();
  return {
    taking: async () => {
      say('taking');
      await new Promise((resolve) => setTimeout(resolve, PUT_DOWN_MS));
    },
    taken: () => say('taken'),
    close: () => {
      isOpen = false;
      channel.close();
    },
  };
}
