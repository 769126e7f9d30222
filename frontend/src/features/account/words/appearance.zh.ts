import type { Translation } from '@/i18n/types';
import type { appearance as english } from './appearance.en';

export const appearance: Translation<typeof english> = {
  title: '外观',
  hint: '保存在此浏览器中；语言也会保存到您的账户。',
  density: '密度',
  comfortable: '宽松',
  compact: '紧凑',
};
