import i18n from 'i18next';
import { visible } from '@/shared/ui/visible';
import { textSayer } from './patterns';
import { reasons as english } from './reasons.en';
import { reasons as chinese } from './reasons.zh';

const inEnglish = textSayer(english);
const inChinese = textSayer(chinese);

/** A reason of the importers in the present language and the words of this page; one that is not known stays as it is. */
export const sayReason = (reason: string): string =>
  visible(i18n.language.startsWith('zh') ? inChinese(reason) : inEnglish(reason));
