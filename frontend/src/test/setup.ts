import { cleanup } from '@testing-library/react';
import { afterEach, beforeAll } from 'vitest';
import { startI18n } from '@/i18n';

beforeAll(() => startI18n());
afterEach(() => cleanup());
