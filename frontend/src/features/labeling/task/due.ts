import type { LabelTask } from '@/api/contract/labeling';
import { isOver } from './progress';

/** A due date has no time of day: it means the whole day where the reader is. */
export const dueDay = (due_on: string): Date => new Date(`${due_on}T00:00:00`);

/** Whether a task that still takes work should have been finished on an earlier day. */
export function isOverdue({ due_on, state }: Pick<LabelTask, 'due_on' | 'state'>, now = new Date()): boolean {
  if (!due_on || isOver(state)) return false;
  const end = dueDay(due_on);
  end.setDate(end.getDate() + 1);
  return end <= now;
}
