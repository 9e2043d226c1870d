// A timeline that ends now follows the log: each poke that the page hears brings the whole anew, one at a time and not too often.

const APART = 2_000, LAG = 1_000;

const isPaused = () => document.getElementById("live-state")?.dataset.state === "paused";

// `renew` fetches and draws; it gives how many receipts are still to be read, after which it is worth asking again.
export function follow(host, renew) {
  const live = host.closest("[data-live]");
  if (!live) return;
  let isBusy = false, isDue = false;

  async function run() {
    isBusy = true;
    isDue = false;
    const lag = await renew().catch(() => 0);
    setTimeout(() => {
      isBusy = false;
      if (isDue) run();
    }, APART);
    // Lists are told of before the pages of buses have read the same receipts.
    if (lag > 0) setTimeout(() => isPaused() || live.dispatchEvent(new CustomEvent("refresh")), LAG);
  }

  live.addEventListener("refresh", (event) => {
    if (event.target !== live || !host.isConnected) return;
    isDue = true;
    if (!isBusy) run();
  });
}
