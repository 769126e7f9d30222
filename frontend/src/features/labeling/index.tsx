import './words/index';

export { AuditPage } from './audit/AuditPage';
export { TaskPage } from './task/TaskPage';
export { TasksPage } from './task/TasksPage';
export { WorkPage } from './workspace/WorkPage';
