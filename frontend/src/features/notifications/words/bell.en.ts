export const bell = {
  open_zero: 'Notifications',
  open_one: 'Notifications, {{count, number}} unread',
  open_other: 'Notifications, {{count, number}} unread',
  many: '99+',
  latest: 'Latest notifications',
};
