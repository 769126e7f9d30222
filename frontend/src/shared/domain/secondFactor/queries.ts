import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { Proof } from '@/api/contract/accounts';
import { sessionQuery } from '../me';

const MINE = '/api/v1/auth/second-factor/';
const CONFIRM = '/api/v1/auth/second-factor/confirm/';
const CODES = '/api/v1/auth/second-factor/recovery-codes/';
const OFF = '/api/v1/auth/second-factor/off/';

export const useSecondFactor = () => $api.useQuery('get', MINE);
export const begin = async (body: Proof) => (await api.POST(MINE, { body })).data;
export const confirm = async (code: string) => (await api.POST(CONFIRM, { body: { code } })).data?.recovery_codes ?? [];
export const renewCodes = async (body: Proof) => (await api.POST(CODES, { body })).data?.recovery_codes ?? [];
export const turnOff = (body: Proof) => api.POST(OFF, { body });

/** Reads anew what has changed: the factor, and what the session may do now. */
export function useRefreshSecondFactor() {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: keyOf(MINE) });
    await client.refetchQueries({ queryKey: sessionQuery.queryKey });
  };
}
