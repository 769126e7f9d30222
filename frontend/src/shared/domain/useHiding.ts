import { useState } from 'react';
import { confirmUndo, notifySuccess } from '../ui/undo';

interface Ending {
  message: string;
  done: string;
  send: () => Promise<unknown>;
  refresh: () => Promise<unknown>;
}

/** An ended thing disappears at once, and comes back if that is undone or refused. */
export function useHiding() {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const show = (id: string) => setHidden((old) => new Set([...old].filter((other) => other !== id)));
  const end = (id: string, { message, done, send, refresh }: Ending) => {
    setHidden((old) => new Set(old).add(id));
    confirmUndo({
      message,
      commit: async () => {
        await send();
        notifySuccess(done);
        await refresh();
        // A thing that is still there is shown again.
        show(id);
      },
      rollback: () => show(id),
    });
  };
  return { hidden, end };
}
