/** The part of a task that says who does it, until when, and where they begin. */
export interface Plan {
  assignees: string[];
  /** `2026-12-24`, or empty. */
  dueOn: string;
  priority: number;
  preLabel: boolean;
}

/** The names that the server has for the fields of a plan. */
export const PLAN_NAMES = { due_on: 'dueOn', pre_label: 'preLabel' };

export const planBody = ({ assignees, dueOn, priority, preLabel }: Plan) => ({
  assignees,
  due_on: dueOn || null,
  priority,
  pre_label: preLabel,
});
