import { addWords } from '@/i18n';
import { health } from '@/i18n/health.en';
import { machines } from '@/i18n/machines.en';
import { settings } from '@/i18n/settings.en';
import '@/shared/secondFactor/words';

addWords({ health, machines, settings });
