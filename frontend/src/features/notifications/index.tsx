export { NotificationsPage } from './NotificationsPage';
export { PreferencesPage } from './PreferencesPage';
export { UnsubscribePage } from './UnsubscribePage';
