import { useEffect } from 'react';
import { $api } from '@/api/client';
import type { TileSource } from '../canvas/tiles';

/** How far the tiles of a picture are; `source` when they are ready. */
export interface Tiles {
  state: 'whole' | 'making' | 'ready' | 'failed';
  /** In per cent. */
  progress: number;
  reason: string;
  source: TileSource | null;
  retry: () => void;
}

const PATH = '/api/v1/labelx/items/{item_id}/tiles/';
const POLL_MS = 700;
const WHOLE: Tiles = { state: 'whole', progress: 0, reason: '', source: null, retry: () => {} };
const sources = new Map<string, TileSource>();

/** The tiles of an item's picture, made if there are none; a picture that is not tiled asks nothing. */
export function useTiles(itemId: string, isTiled: boolean): Tiles {
  const params = { params: { path: { item_id: itemId } } };
  const query = $api.useQuery('get', PATH, params, {
    enabled: isTiled,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) =>
      ['waiting', 'making', undefined].includes(state.data?.state) && !state.error ? POLL_MS : false,
  });
  const { mutate, isPending } = $api.useMutation('post', PATH, { onSuccess: () => void query.refetch() });
  const state = query.data?.state;
  const isMissing = isTiled && (state === 'none' || state === 'cleared');
  useEffect(() => {
    if (isMissing) mutate({ params: { path: { item_id: itemId } } });
  }, [isMissing, mutate, itemId]);
  if (!isTiled) return WHOLE;
  const retry = () => {
    if (isPending) return;
    if (query.error) void query.refetch();
    else mutate(params);
  };
  if (query.error || state === 'failed')
    return { state: 'failed', progress: 0, reason: query.data?.reason ?? '', source: null, retry };
  const source = query.data?.url ? sourceOf(query.data as TileSource) : null;
  return { state: source ? 'ready' : 'making', progress: query.data?.progress ?? 0, reason: '', source, retry };
}

/** One object for one address, so that the canvas keeps its tiles. */
function sourceOf({ url, width, height, tile, levels, bits, low, high, zero }: TileSource): TileSource {
  const known = sources.get(url);
  if (known) return known;
  const source = { url, width, height, tile, levels, bits, low, high, zero };
  sources.set(url, source);
  return source;
}
