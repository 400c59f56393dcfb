package queue_test

import (
	"context"
	"fmt"
	"log"
	"time"
	_ "time/tzdata" // for machines that do not know the time zones

	"github.com/postroom-go/postroom/queue"
)

// A program sets its schedules at every start; dispatchers fire them.
func ExampleQueue_SetSchedule() {
	ctx := context.Background()
	q, closeDB := exampleQueue(ctx)
	defer closeDB()

	err := q.SetSchedule(ctx, queue.Schedule{
		Name: "good morning",
		Cron: "0 7 * * MON-FRI",
		Zone: "Europe/Berlin",
		Job:  Greet.New(Greeting{Name: "Ada"}, &queue.Options{Key: queue.WhileUnfinished("good morning")}),
	})
	if err != nil {
		log.Fatal(err)
	}

	// Here it is not waited for, but fired by hand.
	if _, err := q.FireSchedule(ctx, "good morning"); err != nil {
		log.Fatal(err)
	}
	exampleRun(ctx, q, func(d *queue.Dispatcher) {
		queue.Handle(d, Greet, func(_ context.Context, w *queue.Work[Greeting]) error {
			firing, _ := w.Job.Firing()
			fmt.Printf("%s, %s, within a minute: %t\n", firing.Schedule, w.Payload.Name,
				time.Since(firing.At) < time.Minute)
			return nil
		})
	})
	// Output: good morning, Ada, within a minute: true
}
