import type { Translation } from '@/i18n/types';
import type { bell as english } from './bell.en';

export const bell: Translation<typeof english> = {
  open_zero: '通知',
  open_other: '通知，{{count, number}} 条未读',
  many: '99+',
  latest: '最新通知',
};
