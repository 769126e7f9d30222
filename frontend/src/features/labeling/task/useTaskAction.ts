import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { ITEMS_KEY, TASK_KEY } from '../queries';

/** Does something with a task, says so, and has the page read it again. */
export function useTaskAction() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const act = async (action: () => Promise<unknown>, message: string) => {
    setBusy(true);
    try {
      await action();
      notifySuccess(message);
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
      for (const queryKey of [TASK_KEY, ITEMS_KEY]) void client.invalidateQueries({ queryKey });
    }
  };
  return { busy, act };
}
